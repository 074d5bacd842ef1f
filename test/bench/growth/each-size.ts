/** One after the other, for the sake of the memory that is measured. */
export async function eachSize<T>(
  sizes: readonly number[],
  build: (size: number) => Promise<T>,
): Promise<T[]> {
  const built: T[] = []
  for (const size of sizes) built.push(await build(size))
  return built
}
