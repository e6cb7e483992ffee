import { estimatedLength, responseTooLarge } from '../core/model/json-pieces.ts'

/** The error of operations without pages, if their response can be large. */
export const responseExceeds = {
  code: 'limit/exceeded',
  when: 'the response is larger than `maxResponseBytes`; the message names the request to make instead',
} as const

/**
 * Checks the length of a response.
 * @param remedy describes the request to make instead
 * @throws ApiError RESOURCE_EXHAUSTED if the response is too large
 */
export function checkLength(items: readonly unknown[], bytesMax: number, remedy: string): void {
  let length = 0
  for (const item of items) {
    length += estimatedLength(item)
    if (length > bytesMax) throw responseTooLarge(bytesMax, remedy)
  }
}
