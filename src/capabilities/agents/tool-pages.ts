import type { AgentCaller } from '../../core/access/credentials/authenticator.ts'
import { invalid } from '../../core/base/errors.ts'
import type { SchemaOf } from '../../core/base/schema.ts'
import { matchesSchema } from '../../core/base/validation.ts'
import type { PageTokens } from '../../rest/page-tokens.ts'

/** The page tokens of one agent. A token is valid only for its agent, its tool and its query. */
export class ToolPages {
  readonly #tokens: PageTokens
  readonly #caller: readonly string[]

  constructor(tokens: PageTokens, { tenant, identity }: AgentCaller) {
    this.#tokens = tokens
    this.#caller = ['mcp', tenant.workspaceId, tenant.apiKey, identity.userId]
  }

  /**
   * Returns the token of a position.
   * @param query the name of the tool, and all values that determine what it lists
   */
  seal(query: readonly unknown[], position: object): string {
    return this.#tokens.seal([...this.#caller, ...query], position)
  }

  /**
   * Returns the position of a token.
   * @throws ApiError INVALID_ARGUMENT if the token is damaged, or belongs to another query, tool or agent
   */
  open<Position>(query: readonly unknown[], token: string, schema: SchemaOf<Position>): Position {
    const position = this.#tokens.open([...this.#caller, ...query], token)
    if (matchesSchema(schema, position)) return position
    // Another version of the server has created the token.
    throw invalid('request/page-token', 'the page token is out of date; start again without it')
  }
}
