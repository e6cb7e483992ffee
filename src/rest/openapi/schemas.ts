import { errorCodes, httpCodes } from '../../core/base/error-codes.ts'
import { acceptsNull, isRequired, json, type ObjectSchema, type Schema } from '../../core/base/schema.ts'
import { idBytesMax } from '../../core/model/address.ts'
import { hasOpenMembers } from '../open-members.ts'
import type { Operation } from '../operation.ts'

/** Limits in characters, for clients that do not know `format: id`, which has a limit in bytes. */
const idLengths = { minLength: 1, maxLength: idBytesMax }

/** Returns the published form of a schema, without Weft's own formats. */
export function publicSchema(schema: Schema): object {
  if (schema.type === undefined)
    return schema.anyOf === undefined ? schema : { ...schema, anyOf: schema.anyOf.map(publicSchema) }
  switch (schema.type) {
    case 'string':
      return schema.format === 'id' ? { ...idLengths, ...schema } : schema
    case 'array':
      return { ...schema, items: publicSchema(schema.items) }
    case 'object':
      return schema.properties === undefined
        ? { ...schema, additionalProperties: publicSchema(schema.additionalProperties) }
        : { ...schema, properties: mapValues(schema.properties, publicSchema) }
    default:
      return schema
  }
}

/**
 * Returns the published form of a request schema. In this form an optional member may also be null, which
 * means that the member is absent.
 * @param isClosed true if objects reject members that are not listed; objects whose member names the caller
 * chooses accept all members in any case
 */
export function publishedRequest(schema: Schema, isClosed: boolean): object {
  const inner = (each: Schema): object => publishedRequest(each, isClosed)
  if (schema.type === undefined && schema.anyOf !== undefined)
    return { ...schema, anyOf: schema.anyOf.map(inner) }
  if (schema.type === 'array') return { ...schema, items: inner(schema.items) }
  if (schema.type !== 'object') return publicSchema(schema)
  const orNull = (member: Schema, name: string): object =>
    isRequired(schema, name) || acceptsNull(member) ? inner(member) : nullable(member, inner)
  if (schema.properties === undefined)
    return { ...schema, additionalProperties: orNull(schema.additionalProperties, '') }
  const others = isClosed ? { additionalProperties: false } : {}
  return { ...others, ...schema, properties: mapValues(schema.properties, orNull) }
}

/**
 * Returns a schema that also accepts null. The description and the default of the member stay next to the
 * alternatives, where code generators and the reference pages read them.
 */
function nullable(schema: Schema, inner: (each: Schema) => object): object {
  if (schema.type === undefined && schema.anyOf !== undefined)
    return { ...schema, anyOf: [...schema.anyOf.map(inner), { type: 'null' }] }
  const {
    description,
    default: usual,
    ...other
  }: { readonly description?: unknown; readonly default?: unknown } = inner(schema)
  return {
    anyOf: [other, { type: 'null' }],
    ...(description !== undefined && { description }),
    ...(usual !== undefined && { default: usual }),
  }
}

export const mapValues = <Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))

/** Returns the schema of a request body, which contains `data`. */
export const requestBody = (data: ObjectSchema): ObjectSchema => json.object({ data })

const nextPage = json.text(
  'Send it with the same query for the next page; absent at the end.',
) satisfies Schema

/**
 * Returns the schema of a response body. The response of an operation that accepts a page token also contains
 * a page token.
 */
export const resultBody = (
  operation: Pick<Operation, 'request' | 'response' | 'bare' | 'warns' | 'creates'>,
): ObjectSchema => json.object({ result: resultOf(operation) })

const warnings = json.list(json.text(), {
  description:
    'Accepted values that have no effect, may be lost later or are probably misspelled, one sentence each; absent if ' +
    'there are none.',
  examples: [['Weft has no event type "recorder.start": it is stored and never sent.']],
}) satisfies Schema

const ids = json.list(json.text())

const created = json.object(
  {},
  {
    organization: json.text(),
    document: json.text(),
    editor: json.text(),
    root: json.text('Name of the root.'),
    organizations: { ...ids, description: 'In calls with flags such as `createOrganization`.' },
    documents: ids,
    folders: ids,
  },
  { description: 'Ids of what the call has created. What existed is absent.' },
) satisfies Schema

function resultOf({ request, response, bare, warns, creates }: Parameters<typeof resultBody>[0]): Schema {
  if (bare === true && response !== null) return response
  return {
    type: 'object',
    required: [
      'status',
      'message',
      ...(response === null ? [] : ['data']),
      ...(creates === true ? ['created'] : []),
    ],
    properties: {
      status: json.choice(['success']),
      message: json.text('For people.', { examples: ['Done.'] }),
      ...(response !== null && { data: response }),
      ...(Object.hasOwn(request.properties, 'pageToken') && { pageToken: nextPage }),
      ...((warns === true || hasOpenMembers(request)) && { warnings }),
      ...(creates === true && { created }),
    },
  }
}

/** Schema of the body of every error response. */
export const errorBody = json.object({
  error: json.object({
    status: json.choice(Object.keys(httpCodes)),
    message: json.text('For people.'),
    details: json.object(
      {
        code: json.choice(
          Object.keys(errorCodes),
          'The cause. It is stable, and the page `/docs/errors/<code>` describes it.',
        ),
      },
      {
        issues: json.list(
          json.object({
            path: json.text('JSON pointer into the body.'),
            message: json.text(),
          }),
          { description: 'Violations of the request schema.' },
        ),
      },
    ),
  }),
}) satisfies Schema
