/**
 * Restrictions of an agent, in addition to its role. `read-only`: at most the role viewer. `suggest-only`: at most the
 * role suggester. `no-delete`: it deletes no content.
 */
export const agentPolicies = ['read-only', 'suggest-only', 'no-delete'] as const

export type AgentPolicy = (typeof agentPolicies)[number]
