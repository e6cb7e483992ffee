import { type FromSchema, json, type ObjectSchema } from '../../core/base/schema.ts'
import type { BatchResults } from '../../core/directory/store/batch.ts'
import { type Batch, defineOperation, type OperationContext, type OperationDefinition } from '../operation.ts'

/** Schema of `details` in the result of an item. */
export const failureDetails = json.object(
  { code: json.text('Stable code of the cause.', { examples: ['request/invalid-member'] }) },
  {
    candidates: json.list(json.object({}, {}, { additionalProperties: {} }), {
      description: 'Places that are similar to the quote of an anchor, or that contain it.',
    }),
    issues: json.list(
      json.object({
        path: json.text('JSON pointer into the body.'),
        message: json.text(),
      }),
      {
        description: 'Members of the item that are not valid or not known.',
        examples: [[{ path: '/data/users/1/userId', message: 'is required' }]],
      },
    ),
  },
  { description: 'Only with `success` false: the same members as `error.details`.' },
)

/** Schema of the response to a batch: the result of each item, by its id. */
export const batchResults = json.map(
  json.object(
    {
      success: json.boolean('False: nothing was done for this item.'),
      id: json.text(),
      message: json.text('Result, or the reason of the failure.'),
    },
    { details: failureDetails },
  ),
  { description: 'By item id; for an item without an id, by its JSON pointer.' },
)

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

interface BatchDefinition<Request extends ObjectSchema>
  extends Omit<
    OperationDefinition<'key', Request, typeof batchResults>,
    'auth' | 'batch' | 'response' | 'handler'
  > {
  /** As in `Batch`. */
  readonly items: Batch['items']
  readonly check?: Batch['check']
  /** Completes the message of the response, after the number of successful entries. */
  readonly done: string
  readonly handler: (data: FromSchema<Request>, context: OperationContext) => Promise<BatchResults>
}

/** Defines an operation of backends whose response is only `batchResults`. */
export const defineBatchOperation = <const Request extends ObjectSchema>({
  items,
  check,
  done,
  handler,
  ...described
}: BatchDefinition<Request>) =>
  defineOperation<'key', Request, typeof batchResults>({
    ...described,
    auth: 'key',
    batch: keyedBatch(items, check),
    response: batchResults,
    async handler(data, context) {
      const results = await handler(data, context)
      return { message: `${countSucceeded(results)} ${done}.`, data: results }
    },
  })
