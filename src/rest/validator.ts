import type { Ajv2020, AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { type ApiError, invalid } from '../core/base/errors.ts'
import { escapePointer } from '../core/base/json.ts'
import type { ObjectSchema } from '../core/base/schema.ts'
import { createAjv } from '../core/base/validation.ts'
import { othersBytesMax } from '../core/directory/store/patch-record.ts'
import { idProblem } from '../core/model/address.ts'
import { areOthersSmall } from './open-members.ts'

/** Maximum number of issues in one response. Further issues are omitted. */
export const issuesMax = 50
/**
 * Maximum characters of a body that is searched for all issues. For a larger body, only the first issue is
 * reported, because millions of invalid items would create millions of issues.
 */
const allIssuesTextMax = 65_536

export interface ValidationIssue {
  /** JSON pointer of the member in the body. */
  readonly path: string
  readonly message: string
}

/**
 * Returns an INVALID_ARGUMENT error about members of the body, with `details.issues`. The first issue becomes
 * the message.
 */
export function invalidAt(...issues: readonly [ValidationIssue, ...ValidationIssue[]]): ApiError {
  const [{ path, message }] = issues
  return invalid('request/invalid-member', `${path} ${message}`, { issues: issues.slice(0, issuesMax) })
}

/**
 * Checks the `data` of a request. `textLength` is the length of the body in characters.
 * @throws ApiError INVALID_ARGUMENT
 */
export type Validator = (data: unknown, textLength: number) => void

/**
 * Returns a validator for a schema. The schema is compiled at the first use, because compiling all schemas would take
 * a second. Ajv keeps what it has compiled for a schema object, so the servers of a process share it.
 */
export function validatorOf(schema: ObjectSchema): Validator {
  return (data, textLength) => {
    const first = compiled(schema, 'firstError')
    if (first(data)) return
    if (textLength > allIssuesTextMax) throw problemsOf(first)
    const all = compiled(schema, 'allErrors')
    all(data)
    throw problemsOf(all)
  }
}

type Reported = 'firstError' | 'allErrors'

const compilers = new Map<Reported, Ajv2020>()

function compiled(schema: ObjectSchema, reported: Reported): ValidateFunction {
  const ajv = compilers.get(reported) ?? createRequestAjv(reported === 'allErrors')
  compilers.set(reported, ajv)
  return ajv.compile(schema)
}

function createRequestAjv(allErrors: boolean): Ajv2020 {
  const ajv = createAjv({ allErrors, ownProperties: true, formats: { 'date-time': true, byte: true } })
  ajv.addFormat('id', { type: 'string', validate: (text: string) => idProblem(text) === null })
  ajv.addKeyword({
    keyword: 'x-reserved',
    type: 'object',
    validate: (_names: readonly string[], value: object, schema?: AnySchemaObject) =>
      areOthersSmall({ properties: schema?.properties ?? {} }, value),
  })
  return ajv
}

function problemsOf({ errors }: ValidateFunction): ApiError {
  const [first, ...others] = (errors ?? []).map(issueOf)
  return invalidAt(first ?? { path: '/data', message: 'is not valid' }, ...others)
}

function issueOf({ keyword, instancePath, params, message, data }: ErrorObject): ValidationIssue {
  const path = `/data${instancePath}`
  if (keyword === 'required')
    return { path: `${path}/${escapePointer(params.missingProperty)}`, message: 'is required' }
  if (keyword === 'format' && params.format === 'id')
    return { path, message: idProblem(data) ?? 'is not an id' }
  if (keyword === 'x-reserved')
    return {
      path,
      message: `must have at most ${othersBytesMax} bytes of JSON in members that are not listed`,
    }
  if (keyword === 'enum') return { path, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { path, message: message ?? 'is not valid' }
}
