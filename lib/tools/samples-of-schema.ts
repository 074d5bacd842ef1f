import type { KnownSchema } from './known-schema.ts'

/** A value for each format that a path may have. */
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['uuid', '7d444840-9dc0-4ad1-a2b1-5f2ab35a0e1f'],
  ['date', '2030-01-31'],
  ['date-time', '2030-01-31T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['email', 'probe@example.com'],
  ['hostname', 'probe.example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://probe.example.com/'],
])

/** What a parameter is called where its schema says nothing. */
export const PLAIN = 'probe'

/** Values that a JSON schema names or describes, the best first. The last ones may not fit it. */
export function samplesOfSchema(schema: KnownSchema): string[] {
  const of = (name: string): unknown => schema.of(name)
  const named = ['const', 'enum', 'examples', 'example', 'default'].flatMap(of).filter(isScalar)
  const format = FORMATS.get(of('format'))
  return [
    ...named.map(String),
    format,
    ...schema.parts().flatMap(samplesOfSchema),
    sampleOfType(of('type'), of),
  ].filter((sample) => sample !== undefined)
}

function sampleOfType(type: unknown, of: (name: string) => unknown): string {
  const types = [type].flat()
  if (types.includes('integer') || types.includes('number')) return String(leastNumber(of))
  if (types.includes('boolean')) return 'true'
  const [least, most] = [Number(of('minLength') ?? 0), Number(of('maxLength') ?? PLAIN.length)]
  return PLAIN.padEnd(least, PLAIN).slice(0, Math.max(least, most))
}

function leastNumber(of: (name: string) => unknown): number {
  const step = Number(of('multipleOf') ?? 1)
  const least = Number(of('minimum') ?? Number(of('exclusiveMinimum') ?? 0) + step)
  return Math.ceil(least / step) * step
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
