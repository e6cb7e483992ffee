import { violationsIn } from '../../../../src/core/content/schemas/content-schema.ts'
import type { Violation } from '../../../../src/core/content/schemas/violation.ts'

/** Returns the first place at which a root does not match a schema; null if it matches. */
export function findViolation(...root: Parameters<typeof violationsIn>): Violation | null {
  const [first] = violationsIn(...root)
  if (first === undefined) return null
  const { key: _, ...violation } = first
  return violation
}
