import { apiKeyHeader, authTokenHeader } from '../access/credentials.ts'
import { httpCodes } from '../errors.ts'
import type { Operation, PossibleError } from './operation.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** Errors that every operation can answer. */
const commonErrors: readonly PossibleError[] = [
  { status: 'INVALID_ARGUMENT', when: 'the request is malformed, or credentials are missing' },
  { status: 'UNAUTHENTICATED', when: 'the credentials are not valid' },
  { status: 'RESOURCE_EXHAUSTED', when: 'calls come too fast; `Retry-After` says when to go on' },
  { status: 'INTERNAL', when: 'the server is at fault' },
  { status: 'UNAVAILABLE', when: 'the server is stopping or its store is away' },
]

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['status', 'message'],
      properties: {
        status: { type: 'string', enum: Object.keys(httpCodes) },
        message: { type: 'string' },
        details: { type: 'object', properties: {} },
      },
    },
  },
} satisfies Schema

/** The OpenAPI 3.1 document of the operations. */
export function openApi(operations: readonly Operation[], version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weft',
      version,
      description: 'REST service of Weft. Every operation is a POST with its parameters inside `data`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths: Object.fromEntries(operations.map((operation) => [operation.path, { post: describe(operation) }])),
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: apiKeyHeader },
        authToken: { type: 'apiKey', in: 'header', name: authTokenHeader },
      },
    },
  }
}

function describe({ path, summary, description, request, response, errors }: Operation): object {
  return {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary,
    description,
    tags: [path.split('/')[2]],
    security: [{ apiKey: [], authToken: [] }],
    requestBody: { required: true, content: jsonContent(envelopeOf('data', request)) },
    responses: {
      200: { description: 'Done.', content: jsonContent(envelopeOf('result', resultOf(response))) },
      ...errorResponses([...commonErrors, ...errors]),
    },
  }
}

const jsonContent = (schema: object): object => ({ 'application/json': { schema } })

const envelopeOf = (name: string, schema: Schema): ObjectSchema => ({
  type: 'object',
  required: [name],
  properties: { [name]: schema },
})

const resultOf = (data: Schema): ObjectSchema => ({
  type: 'object',
  required: ['status', 'message'],
  properties: { status: { type: 'string', enum: ['success'] }, message: { type: 'string' }, data },
})

/** One response for each HTTP code: several statuses may share one. */
function errorResponses(errors: readonly PossibleError[]): object {
  const codes = [...new Set(errors.map(({ status }) => httpCodes[status]))]
  return Object.fromEntries(
    codes.map((code) => {
      const sameCode = errors.filter(({ status }) => httpCodes[status] === code)
      const description = sameCode.map(({ status, when }) => `${status} when ${when}.`).join(' ')
      return [code, { description, content: jsonContent({ $ref: '#/components/schemas/Error' }) }]
    }),
  )
}
