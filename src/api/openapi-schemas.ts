import { httpCodes } from '../errors.ts'
import { idBytesMax } from '../model/address.ts'
import type { Operation } from './operation.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** What is left of `format: id` for those who do not know it: its limit is in bytes, and these are characters. */
const idLengths = { minLength: 1, maxLength: idBytesMax }

/** A schema as others read it: formats of ours are spelled out. */
export function published(schema: Schema): object {
  if (schema.type === undefined)
    return schema.anyOf === undefined ? schema : { ...schema, anyOf: schema.anyOf.map(published) }
  switch (schema.type) {
    case 'string':
      return schema.format === 'id' ? { ...idLengths, ...schema } : schema
    case 'array':
      return { ...schema, items: published(schema.items) }
    case 'object':
      return schema.properties === undefined
        ? { ...schema, additionalProperties: published(schema.additionalProperties) }
        : { ...schema, properties: mapValues(schema.properties, published) }
    default:
      return schema
  }
}

export const mapValues = <Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))

/** The body around `data` of a request. */
export const requestBody = (data: ObjectSchema): ObjectSchema => ({
  type: 'object',
  required: ['data'],
  properties: { data },
})

const nextPage = {
  type: 'string',
  description: 'Send it with the same query for the next page; absent at the end.',
} satisfies Schema

/** The body of an answer. What takes a page token answers one. */
export const resultBody = (
  operation: Pick<Operation, 'request' | 'response' | 'envelope'>,
): ObjectSchema => ({
  type: 'object',
  required: ['result'],
  properties: { result: resultOf(operation) },
})

function resultOf({ request, response, envelope }: Parameters<typeof resultBody>[0]): Schema {
  if (envelope === 'bare' && response !== null) return response
  return {
    type: 'object',
    required: ['status', 'message', ...(response === null ? [] : ['data'])],
    properties: {
      status: { type: 'string', enum: ['success'] },
      message: { type: 'string', examples: ['Done.'], description: 'For people.' },
      ...(response !== null && { data: response }),
      ...(Object.hasOwn(request.properties, 'pageToken') && { pageToken: nextPage }),
    },
  }
}

/** The body of every failure. */
export const errorBody = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['status', 'message'],
      properties: {
        status: { type: 'string', enum: Object.keys(httpCodes) },
        message: { type: 'string', description: 'For people.' },
        details: {
          type: 'object',
          properties: {
            issues: {
              type: 'array',
              description: 'What is wrong with the request, where it does not fit its schema.',
              items: {
                type: 'object',
                required: ['path', 'message'],
                properties: {
                  path: { type: 'string', description: 'JSON pointer into the body.' },
                  message: { type: 'string' },
                },
              },
            },
          },
        },
      },
    },
  },
} satisfies Schema
