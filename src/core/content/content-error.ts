import { ApiError, invalid } from '../base/errors.ts'

/**
 * Returns the error for content that does not match its type.
 * @param problem text with the position and the expected content
 */
export const invalidContent = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/invalid-content', problem, details)

/**
 * Returns the error for content that exceeds a limit.
 * @param problem text with the limit and its value
 */
export const contentLimit = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/content-limit', problem, details)

/**
 * Runs `act`. An ApiError that does not start with the place of its problem in the request gets this place, and each
 * one gets the details `more`.
 */
export function withPlace<T>(place: string, act: () => T, more?: Record<string, unknown>): T {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, details = more, retryAfterSeconds } = error
    throw new ApiError(code, message.startsWith(place) ? message : `${place}: ${message}`, {
      ...(details && { details: { ...details, ...more } }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }
}
