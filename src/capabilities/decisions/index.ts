import { defineCapability } from '../../rest/capability.ts'
import { addJudgment } from './api/v2/memory/judgments/add.ts'
import { deleteJudgments } from './api/v2/memory/judgments/delete.ts'
import { queryJudgments } from './api/v2/memory/judgments/query.ts'
import { suggestDecision } from './api/v2/memory/suggest.ts'
import { DecisionMemory } from './decision-memory.ts'
import { judgmentSource } from './user-data.ts'

interface Added {
  readonly memory: DecisionMemory
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Judgments about suggestions, and suggestions from them. */
export const decisions = defineCapability({
  name: 'decisions',
  operations: [addJudgment, deleteJudgments, queryJudgments, suggestDecision],
  create: ({ engine, store, clock }) => ({ memory: new DecisionMemory(engine.kv, store, clock) }),
  cascade: ({ memory }) => [{ removeOrganization: (scope, goOn) => memory.forget(scope, goOn) }],
  userData: ({ memory }) => ({ ofTenant: [judgmentSource(memory)] }),
})
