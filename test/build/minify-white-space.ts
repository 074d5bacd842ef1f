import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { transformSync } from 'esbuild'

// The last step of `npm run build`: the white space of programs would be a twentieth of what is
// published.

for (const name of readdirSync('dist', { recursive: true }).map(String)) {
  if (!name.endsWith('.js')) continue
  const path = `dist/${name}`
  const { code } = transformSync(readFileSync(path, 'utf8'), {
    minifyWhitespace: true,
    format: 'esm',
    target: 'es2023',
  })
  writeFileSync(path, code)
}
