import { readFileSync } from 'node:fs'

// A step of `npm pack` and `npm publish`. Whoever publishes writes the address of the repository
// into package.json: npm shows it, and a provenance is refused where it is another one.

const { repository } = JSON.parse(readFileSync('package.json', 'utf8'))
if (repository === undefined) {
  console.warn('package.json has no "repository": CONTRIBUTING.md, "Commits and releases"')
}
