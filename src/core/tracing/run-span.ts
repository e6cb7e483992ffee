import type { Span } from '../base/span.ts'
import { errorTypeOf } from './error-type.ts'

/**
 * Runs `work`, and ends the span with its outcome: when `work` returns or throws, or when its promise settles.
 * @param span null if nothing is traced
 * @throws the error of `work`
 */
export function runSpan<T>(span: Span | null, work: () => T): T {
  const fail = (error: unknown): never => {
    span?.end(errorTypeOf(error))
    throw error
  }
  const succeed = <R>(result: R): R => {
    span?.end()
    return result
  }
  let result: T
  try {
    result = work()
  } catch (error) {
    return fail(error)
  }
  return result instanceof Promise ? (result.then(succeed, fail) as T) : succeed(result)
}
