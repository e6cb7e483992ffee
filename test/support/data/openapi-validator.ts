import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** Returns why a value does not fit a schema of the document, or null. */
export type SchemaCheck = (schema: object, value: unknown) => unknown

/** Returns a check of values against schemas in `/openapi.json`. */
export function schemaCheckOf(document: object): SchemaCheck {
  const formats = { id: true, byte: true, 'date-time': true } as const
  // Most schemas check a few values only. The optimizer would take longer than that.
  const ajv = new Ajv2020({ strict: false, formats, code: { optimize: false } })
  ajv.addSchema(document, 'openapi')
  // By the text of the schema, because most errors have the same one.
  const validators = new Map<string, ValidateFunction>()
  return (schema, value) => {
    const local = JSON.stringify(schema).replaceAll('"#/', '"openapi#/')
    const validate = validators.get(local) ?? ajv.compile(JSON.parse(local) as object)
    validators.set(local, validate)
    return validate(value) ? null : validate.errors
  }
}
