import { type ApiError, invalid } from '../errors.ts'

/** Error for content that does not match its type. @param problem names the place and the expected content */
export const invalidContent = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/invalid-content', problem, details)

/** Error for content that exceeds a limit. @param problem names the limit and its value */
export const contentLimit = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/content-limit', problem, details)
