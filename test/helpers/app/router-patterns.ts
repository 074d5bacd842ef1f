/** Patterns that the router spells in ways of its own. All of them fit into one application. */
export const PATTERNS = [
  '/',
  '*',
  '/a',
  '/A/B',
  '/slash/',
  '/two//slashes',
  '/:a',
  '/:Id/items/:Item',
  '/r/:id(^\\d+$)',
  '/s/:id(^(?:a|b/c)$)/below',
  '/t/:id(^\\)$)/below',
  '/near/:lat-:lng',
  '/:file(^\\d+).png',
  '/opt/:id?',
  '/opt/:id/last/:id?/',
  '/::literal',
  '/::literal/:tail',
  '/files/*',
  '/paren(x)/y',
]

/** Options of a router that overlooks letter case and slashes. */
export const LOOSE = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
}
