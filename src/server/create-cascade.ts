import { createCommentCascade } from '../capabilities/comments/comment-cascade.ts'
import type { DecisionMemory } from '../capabilities/decisions/decision-memory.ts'
import type { FeedRemoval } from '../capabilities/feed/feed-removal.ts'
import type { VersionStore } from '../capabilities/history/version-store.ts'
import { createNotificationCascade } from '../capabilities/notifications/notification-cascade.ts'
import { removeDeliveries, type WebhookModule } from '../capabilities/subscriptions/webhook-module.ts'
import type { BranchStore } from '../core/directory/branches/branch-store.ts'
import type { OrganizationStore } from '../core/directory/organizations/organization-store.ts'
import type { CascadeHandler } from '../core/directory/removal/cascade-handler.ts'
import type { SchemaService } from '../core/directory/schemas/schema-service.ts'
import { mapInSlices } from '../core/directory/store/batch.ts'
import type { Engine } from '../core/store/engine.ts'

interface CascadeDependencies {
  readonly engine: Pick<Engine, 'kv'>
  readonly organizations: OrganizationStore
  readonly memory: DecisionMemory
  readonly schemas: SchemaService
  readonly subscribing: WebhookModule
  readonly versions: VersionStore
  readonly branches: BranchStore
  readonly feedRemoval: FeedRemoval
}

/**
 * Returns the modules that must delete data when the directory removes a document, an organization, a user or
 * a group.
 */
export const createCascade = ({
  engine,
  organizations,
  memory,
  schemas,
  subscribing,
  versions,
  branches,
  feedRemoval,
}: CascadeDependencies): readonly CascadeHandler[] => [
  createNotificationCascade(organizations),
  createCommentCascade(organizations, memory),
  { removeDocuments: (scope, documentIds) => schemas.forget(scope, documentIds) },
  {
    async removeDocuments(scope, documentIds, goOn) {
      for (const id of documentIds) await branches.forgetDocument(scope, id, goOn)
    },
  },
  { removeOrganization: (scope, goOn) => memory.forget(scope, goOn) },
  { removeOrganization: (scope, goOn) => removeDeliveries(engine, subscribing, scope, goOn) },
  {
    async removeDocuments(scope, documentIds, goOn) {
      await mapInSlices(documentIds, (id) => versions.forgetDocument(scope, id, goOn))
    },
    removeOrganization: (scope, goOn) => versions.forget(scope, goOn),
  },
  {
    async removeDocuments(scope, documentIds, goOn) {
      for (const id of documentIds) await feedRemoval.forgetDocument(scope, id, goOn)
    },
    removeOrganization: (scope, goOn) => feedRemoval.forgetOrganization(scope, goOn),
  },
]
