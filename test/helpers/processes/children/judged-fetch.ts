import { fetchJson } from '../../../../lib/platform/http/fetch-json.ts'

/** Fetches the address of its argument from any host, and prints the answer or the failure. */
const [url = ''] = process.argv.slice(2)
const limits = { maxBytes: 1000, signal: AbortSignal.timeout(20_000), isAllowed: () => true }
const result = await fetchJson(url, limits).then(
  (answer) => ({ answer }),
  (failure: Error) => ({ failure: failure.message }),
)
process.stdout.write(JSON.stringify(result))
