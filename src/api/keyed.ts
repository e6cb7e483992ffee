/** The answer to a batch: what became of each item, by its id. */
export const keyedResults = {
  type: 'object',
  description: 'By the ids of the items.',
  additionalProperties: {
    type: 'object',
    required: ['success', 'id', 'message'],
    properties: {
      success: { type: 'boolean', description: 'False: nothing was done for this item.' },
      id: { type: 'string' },
      message: { type: 'string', description: 'What was done, or why not.' },
    },
  },
} as const

/** How many of a batch succeeded, for the message of its answer. */
export function countOf(results: { readonly [id: string]: { readonly success: boolean } }): string {
  const all = Object.values(results)
  return `${all.filter(({ success }) => success).length} of ${all.length}`
}
