import type { Parser } from './option-parsers.ts'

/**
 * Restrictions of an agent, in addition to its role. `read-only`: at most the role viewer. `suggest-only`: at most the
 * role suggester. `no-delete`: it deletes no content.
 */
export const agentPolicies = ['read-only', 'suggest-only', 'no-delete'] as const

export type AgentPolicy = (typeof agentPolicies)[number]

/** Restrictions of one agent, or of all agents. */
export interface AgentRestrictions {
  readonly policies: readonly AgentPolicy[]
  /** Names of marks and attributes whose content the agent must not change, besides those of schemas. */
  readonly protected?: readonly string[]
}

/** Parses a list such as `no-delete,protect:approved`. */
export const agentPolicyList: Parser<AgentRestrictions> = {
  expected: `comma-separated ${agentPolicies.map((policy) => `\`${policy}\``).join(', ')} or \`protect:name\``,
  format: ({ policies, protected: names = [] }) =>
    [...policies, ...names.map((name) => protect + name)].join(),
  parse(text) {
    const entries = [...new Set(text.split(',').map((entry) => entry.trim()))]
    const policies = agentPolicies.filter((policy) => entries.includes(policy))
    const names = entries
      .filter((entry) => entry.startsWith(protect))
      .map((entry) => entry.slice(protect.length).trim())
    if (policies.length + names.length < entries.length || names.includes('')) return undefined
    return { policies, ...(names.length > 0 && { protected: names }) }
  },
}

const protect = 'protect:'
