/** A table in Markdown whose columns are as wide as their widest cells. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => {
    return Math.max(...rows.map((row) => row[at]?.length ?? 0))
  })
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const [head = [], ...others] = rows.map((row) =>
    line(row.map((text, at) => text.padEnd(widths[at] ?? 0))),
  )
  return [head, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n')
}
