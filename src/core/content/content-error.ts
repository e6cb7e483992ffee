import { type ApiError, invalid } from '../base/errors.ts'

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
