import { type ErrorCode, errorCodes, type Status } from '../../core/base/error-codes.ts'
import { callerErrors } from '../../rest/openapi/level-errors.ts'
import type { Operation } from '../../rest/operation.ts'

/** Statuses of errors that operations need not document one by one. */
const commonStatuses: readonly Status[] = [
  'INVALID_ARGUMENT',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'ABORTED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
  'UNAVAILABLE',
]
/** Areas of codes that operations do not return, or only operations that change something. */
const otherAreas: readonly string[] = ['backup', 'websocket', 'transport', 'idempotency']
const areaOf = (code: string): string => code.slice(0, code.indexOf('/'))

/** All codes of errors of the server. */
export const allCodes = Object.keys(errorCodes) as ErrorCode[]

/** Codes that every call of an operation that changes something can have. */
export const idempotencyCodes: readonly ErrorCode[] = allCodes.filter(
  (code) => areaOf(code) === 'idempotency',
)

/** Codes that every call can have. An older server does not know the paths of new operations. */
export const commonCodes: readonly ErrorCode[] = allCodes.filter(
  (code) =>
    code === 'request/unknown-path' ||
    (commonStatuses.includes(errorCodes[code].status) && !otherAreas.includes(areaOf(code))),
)

/** Returns the codes that only some operations have and that calls of this operation can have. */
export function ownCodes(operation: Pick<Operation, 'auth' | 'agents' | 'effect' | 'errors'>) {
  const { effect, errors } = operation
  const others = effect === 'reads' ? commonCodes : [...commonCodes, ...idempotencyCodes]
  const codes = [...callerErrors(operation), ...errors].map(({ code }) => code)
  return [...new Set(codes)].filter((code) => !others.includes(code))
}

/** Returns all codes that calls of an operation can have. */
export const codesOf = (operation: Operation): readonly ErrorCode[] => [
  ...commonCodes,
  ...(operation.effect === 'reads' ? [] : idempotencyCodes),
  ...ownCodes(operation),
]
