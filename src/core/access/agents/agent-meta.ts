import type { ChangeMeta } from '../../model/change-origin.ts'
import type { AgentTraits } from '../identity.ts'

/** Names of the members that the server sets in the data of the changes of an agent. */
export const agentMetaNames = ['model', 'onBehalfOf'] as const

/** Returns the data that all changes of an agent have; empty if its token describes nothing. */
export const agentMeta = (agent: AgentTraits): ChangeMeta =>
  Object.fromEntries(agentMetaNames.flatMap((name) => (agent[name] === null ? [] : [[name, agent[name]]])))
