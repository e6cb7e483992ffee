import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { type ApiError, invalid } from '../errors.ts'
import { idProblem } from '../model/address.ts'
import type { ObjectSchema } from './schema.ts'

/** Maximum issues in one response; further ones are omitted. */
export const issuesMax = 50
/**
 * Bodies up to this many characters are searched for all issues, larger ones for the first: millions of wrong items
 * would make millions of issues.
 */
const allIssuesTextMax = 65_536

export interface ValidationIssue {
  /** JSON pointer into the body. */
  readonly path: string
  readonly message: string
}

/** INVALID_ARGUMENT about a member of the body, with `details.issues`. The first issue makes the message. */
export function invalidAt(...issues: readonly [ValidationIssue, ...ValidationIssue[]]): ApiError {
  const [{ path, message }] = issues
  return invalid('request/invalid-member', `${path} ${message}`, { issues: issues.slice(0, issuesMax) })
}

/** Checks the `data` of a request. `textLength` is the length of the body. @throws ApiError INVALID_ARGUMENT */
export type Validator = (data: unknown, textLength: number) => void

/** Makes validators: a schema is compiled when it is first asked for: all of them would take a second. */
export class ValidatorCache {
  readonly #first = new Compiler(false)
  readonly #all = new Compiler(true)

  compile(schema: ObjectSchema): Validator {
    let first: ValidateFunction | null = null
    let all: ValidateFunction | null = null
    return (data, textLength) => {
      first ??= this.#first.compile(schema)
      if (first(data)) return
      if (textLength > allIssuesTextMax) throw problemsOf(first)
      all ??= this.#all.compile(schema)
      all(data)
      throw problemsOf(all)
    }
  }
}

class Compiler {
  readonly #allErrors: boolean
  #ajv: Ajv2020 | null = null

  constructor(allErrors: boolean) {
    this.#allErrors = allErrors
  }

  compile(schema: ObjectSchema): ValidateFunction {
    this.#ajv ??= createAjv(this.#allErrors)
    return this.#ajv.compile(schema)
  }
}

function createAjv(allErrors: boolean): Ajv2020 {
  // A test checks the schemas against the meta-schema. Here that would hold up the first call by a tenth of a second.
  const ajv = new Ajv2020({
    strict: true,
    ownProperties: true,
    verbose: true,
    allErrors,
    validateSchema: false,
    meta: false,
  })
  ajv.addFormat('id', { type: 'string', validate: (text: string) => idProblem(text) === null })
  ajv.addFormat('date-time', true)
  ajv.addFormat('byte', true)
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
  if (keyword === 'enum') return { path, message: `must be one of ${params.allowedValues.join(', ')}` }
  return { path, message: message ?? 'is not valid' }
}

/** RFC 6901 3. */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
