import type { RequiredRight } from '../core/access/agents/agent-access.ts'

/** How agents may call an operation. */
export interface AgentRule {
  /**
   * The right that an agent needs on the document of the call, and on its editor if the request names one. `each`: the
   * call names no document, and the handler leaves out the documents on which the agent has no role.
   */
  readonly role: RequiredRight | 'each'
  /**
   * Members that contain the id of the user of the call. The server sets them to the id of the agent, and rejects any
   * other id. A path with `*` stands for all elements of a list: `comments.*.userId`.
   */
  readonly ids?: readonly string[]
  /**
   * Members that contain the user of the call as an object, with paths as in `ids`. The server sets the id and the name,
   * and removes the email address.
   */
  readonly users?: readonly string[]
  /** The member with data about the change. The server adds the model, and the user for whom the agent acts. */
  readonly meta?: string
  /** Members that agents must not use, with paths as in `ids`. */
  readonly without?: readonly string[]
}
