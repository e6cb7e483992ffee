/** What an empty root may become. */
export const rootTypes = [
  ['text', 'Text'],
  ['map', 'JSON object'],
  ['array', 'JSON array'],
  ['xml', 'Rich text (XML)'],
] as const

export type RootType = (typeof rootTypes)[number][0]

/** What each of them holds at first. */
export const emptyContent: Readonly<Record<RootType, unknown>> = { text: '', map: {}, array: [], xml: '' }
