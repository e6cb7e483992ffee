import { type ApiError, invalid } from '../errors.ts'

/** Content that is not of its type. @param problem names the place and what is expected there */
export const invalidContent = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/invalid-content', problem, details)

/** Content that exceeds a limit. @param problem names the limit and its value */
export const contentLimit = (problem: string, details?: Record<string, unknown>): ApiError =>
  invalid('crdt/content-limit', problem, details)
