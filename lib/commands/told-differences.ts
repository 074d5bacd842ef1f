import type { Difference } from '../inspection/matrix-difference.ts'
import type { Effect } from '../inspection/route-difference.ts'
import type { Paint } from './colours.ts'
import type { Format } from './policy-options.ts'

const COLOURS = { opens: 'red', closes: 'green', changes: 'yellow' } as const satisfies Record<
  Effect,
  string
>

/** The differences as text; those that open something come first, as they are given. */
export function toldDifferences(
  differences: readonly Difference[],
  format: Format,
  paint: Paint,
): string {
  if (format === 'json') return `${JSON.stringify({ differences }, null, 2)}\n`
  return differences
    .map(({ effect, route, told }) =>
      format === 'markdown'
        ? `- **${effect}** \`${route}\`: ${told}\n`
        : `${paint(COLOURS[effect], effect.padEnd('changes'.length))}  ${route}: ${told}\n`,
    )
    .join('')
}
