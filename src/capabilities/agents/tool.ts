import { type ApiError, invalid } from '../../core/base/errors.ts'
import type { FromSchema, ObjectSchema } from '../../core/base/schema.ts'
import type { AnsweredText, TextQuery } from '../../core/content/reading/text-query.ts'
import type { AccessRole } from '../../core/directory/store/records.ts'
import type { DocumentPath } from '../../core/model/address.ts'
import type { AgentApi } from './agent-api.ts'
import type { DocumentData } from './document-data.ts'
import type { ToolPages } from './tool-pages.ts'

export interface ToolContext {
  /** Answers a query about the response of `/v2/crdt/get` for an editor. @throws ApiError */
  readonly answerText: (
    ids: DocumentPath,
    json: Uint8Array,
    query: TextQuery,
  ) => Promise<AnsweredText | 'too long' | null>
  readonly api: AgentApi
  readonly pages: ToolPages
  /** Organizations that the token of the agent names. */
  readonly organizationIds: readonly string[]
}

/** The outcome of a successful call. */
export interface ToolOutcome {
  /** Values of the server, without text of documents. */
  readonly result: Readonly<Record<string, unknown>>
  readonly documentData: DocumentData
}

/** One tool with its description. */
export interface McpTool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Role without which the tool can do nothing. */
  readonly role: AccessRole
  /** Effects as MCP names them. */
  readonly effect: 'reads' | 'adds' | 'changes'
  readonly input: ObjectSchema
  /** Members of `result`. */
  readonly result: ObjectSchema
  /** Members of `documentData`. */
  readonly documentData: ObjectSchema
  /** @throws ApiError */
  run(data: unknown, context: ToolContext): Promise<ToolOutcome>
}

type Definition<Input extends ObjectSchema, Result extends ObjectSchema, Data extends ObjectSchema> = Omit<
  McpTool,
  'input' | 'result' | 'documentData' | 'run'
> & {
  readonly input: Input
  readonly result: Result
  readonly documentData: Data
  readonly handler: (
    data: FromSchema<Input>,
    context: ToolContext,
  ) => Promise<{ readonly result: FromSchema<Result>; readonly documentData: FromSchema<Data> }>
}

/** Defines a tool whose handler has the types of its schemas. */
export function defineTool<
  const Input extends ObjectSchema,
  const Result extends ObjectSchema,
  const Data extends ObjectSchema,
>({ handler, ...described }: Definition<Input, Result, Data>): McpTool {
  return {
    ...described,
    run: async (data, context) => {
      const { result, documentData } = await handler(data as FromSchema<Input>, context)
      return { result, documentData }
    },
  }
}

/** Returns the error for arguments that the tool rejects itself. */
export const invalidArgument = (path: string, message: string): ApiError =>
  invalid('request/invalid-member', `${path} ${message}`, { issues: [{ path, message }] })
