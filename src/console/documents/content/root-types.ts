/** Types that the user can choose for an empty root. */
export const rootTypes = [
  ['text', 'Text'],
  ['map', 'JSON object'],
  ['array', 'JSON array'],
  ['xml', 'Rich text (XML)'],
] as const

export type RootType = (typeof rootTypes)[number][0]

/** Initial content by type. */
export const emptyContent: Readonly<Record<RootType, unknown>> = { text: '', map: {}, array: [], xml: '' }
