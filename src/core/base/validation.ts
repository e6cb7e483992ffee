import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js'
import type { SchemaOf } from './schema.ts'

/**
 * Creates a validator. It compiles a schema at the first use and keeps the result, so schemas must not be
 * created for each check. It does not check the schemas against the meta-schema, because this would delay the
 * first use by a tenth of a second. The optimizer of Ajv is off: it doubles the time of a compilation, and V8 makes
 * the same improvements, so checks are not faster with it.
 */
export function createAjv(options: Pick<Options, 'allErrors' | 'ownProperties' | 'formats'> = {}): Ajv2020 {
  const ajv = new Ajv2020({
    ...options,
    strict: true,
    // Arrays of a newer version may have more items.
    strictTuples: false,
    discriminator: true,
    verbose: true,
    validateSchema: false,
    meta: false,
    code: { optimize: false },
  })
  return ajv.addKeyword({
    keyword: 'check',
    validate: (check: (value: unknown) => boolean, value: unknown) => check(value),
  })
}

let validator: Ajv2020 | undefined

function compiled(schema: SchemaOf<unknown>): ValidateFunction {
  validator ??= createAjv()
  return validator.compile(schema)
}

/**
 * Returns whether a value has the form that a schema describes. Does not change or copy the value. The check
 * of an object with 10 members takes less than 0.1 µs, so every read of a stored record can be checked.
 */
export const matchesSchema = <T>(schema: SchemaOf<T>, value: unknown): value is T => compiled(schema)(value)

interface SchemaProblem {
  /** Description without a part of the value, such as `places.1.at must be number`. */
  readonly message: string
  /** True if the only problem is a string that is not in a list of names. A newer version may know it. */
  readonly isUnknownName: boolean
}

/** Returns the problem of the value that `matchesSchema` has rejected last for this schema. */
export function mismatchOf(schema: SchemaOf<unknown>): SchemaProblem {
  // The last error is that of the whole union. The errors before it are those of its alternatives.
  const error = compiled(schema).errors?.at(-1)
  if (error === undefined) throw new TypeError('the schema has accepted the last value')
  const { keyword, instancePath, params, data } = error
  const member =
    keyword === 'required' ? params.missingProperty : keyword === 'discriminator' ? params.tag : null
  const path = [...instancePath.split('/').slice(1), ...(member === null ? [] : [member])].join('.')
  return {
    message: `${path === '' ? 'the value' : path} ${requirementOf(error)}`,
    isUnknownName:
      (keyword === 'enum' && path !== '' && typeof data === 'string') ||
      (keyword === 'discriminator' && typeof params.tagValue === 'string'),
  }
}

function requirementOf({ keyword, params }: ErrorObject): string {
  if (keyword === 'required') return 'must be present'
  if (keyword === 'type') return `must be ${[params.type].flat().join(' or ')}`
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`
  if (keyword === 'enum') return `must be one of ${params.allowedValues.map(String).join(', ')}`
  return 'must be another value'
}
