import type { Batch } from '../operation.ts'

/** Schema of `details` in the result of an item. */
export const failureDetails = {
  type: 'object',
  required: ['code'],
  description: 'Only with `success` false: the same members as `error.details`.',
  properties: {
    code: { type: 'string', description: 'Stable code of the cause.', examples: ['request/invalid-member'] },
    candidates: {
      type: 'array',
      description: 'Places that are similar to the quote of an anchor, or that contain it.',
      items: { type: 'object', properties: {}, additionalProperties: {} },
    },
    issues: {
      type: 'array',
      description: 'Members of the item that are not valid or not known.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'JSON pointer into the body.' },
          message: { type: 'string' },
        },
      },
      examples: [[{ path: '/data/users/1/userId', message: 'is required' }]],
    },
  },
} as const

/** Schema of the response to a batch: the result of each item, by its id. */
export const batchResults = {
  type: 'object',
  description: 'By item id; for an item without an id, by its JSON pointer.',
  additionalProperties: {
    type: 'object',
    required: ['success', 'id', 'message'],
    properties: {
      success: { type: 'boolean', description: 'False: nothing was done for this item.' },
      id: { type: 'string' },
      message: { type: 'string', description: 'Result, or the reason of the failure.' },
      details: failureDetails,
    },
  },
} as const

export const isAnySuccessful = (results: Readonly<Record<string, { readonly success: boolean }>>): boolean =>
  Object.values(results).some(({ success }) => success)

/** Returns the number of successful items as text ("2 of 3"), for the message of the response. */
export function countSucceeded(results: { readonly [id: string]: { readonly success: boolean } }): string {
  const all = Object.values(results)
  return `${all.filter(({ success }) => success).length} of ${all.length}`
}

/** Returns a batch whose response is `batchResults`. */
export const keyedBatch = (items: Batch['items'], check?: Batch['check']): Batch => ({
  items,
  ...(check !== undefined && { check }),
  rejected: (id, failure) => ({ success: false, id, ...failure }),
})
