/** What an empty root may become. */
export const kinds = [
  ['text', 'Text'],
  ['map', 'JSON object'],
  ['array', 'JSON array'],
  ['xml', 'Rich text (XML)'],
] as const

export type Kind = (typeof kinds)[number][0]

/** What each of them holds at first. */
export const nothing: Readonly<Record<Kind, unknown>> = { text: '', map: {}, array: [], xml: '' }
