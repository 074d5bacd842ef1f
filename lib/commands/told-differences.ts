import type { Difference } from '../inspection/matrix-difference.ts'
import { code, escaped } from '../inspection/matrix-table.ts'
import type { Effect } from '../inspection/route-difference.ts'
import { visible, visibleLines } from '../settings/shown-value.ts'
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
  if (format === 'json') {
    return `${visibleLines(JSON.stringify({ differences }, null, 2))}\n`
  }
  return differences
    .map(({ effect, ...words }) => {
      const [route, told] = [visible(words.route), visible(words.told)]
      return format === 'markdown'
        ? `- **${effect}** ${code(route)}: ${escaped(told)}\n`
        : `${paint(COLOURS[effect], effect.padEnd('changes'.length))}  ${route}: ${told}\n`
    })
    .join('')
}
