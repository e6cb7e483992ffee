import { violationsIn } from '../../../../src/content/schemas/content-schema.ts'
import type { Violation } from '../../../../src/content/schemas/violation.ts'

/** Returns the first place at which a root does not match a schema; null if it matches. */
export function findViolation(...root: Parameters<typeof violationsIn>): Violation | null {
  const [first] = violationsIn(...root)
  if (first === undefined) return null
  const { key: _, ...violation } = first
  return violation
}
