import { mapInSlices } from '../../core/directory/store/batch.ts'
import { rangeSource } from '../../core/directory/user-data/range-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { getChanges } from './api/v2/crdt/changes.ts'
import { undoContentChanges } from './api/v2/crdt/undo.ts'
import { createVersion } from './api/v2/crdt/versions/create.ts'
import { deleteVersion } from './api/v2/crdt/versions/delete.ts'
import { diffVersions } from './api/v2/crdt/versions/diff.ts'
import { getVersion } from './api/v2/crdt/versions/get.ts'
import { listVersions } from './api/v2/crdt/versions/list.ts'
import { restoreVersion } from './api/v2/crdt/versions/restore.ts'
import { createVersionParts, type VersionDependencies } from './create-version-parts.ts'
import { versionRanges } from './user-data.ts'
import { VersionService } from './version-service.ts'

interface Added {
  readonly versions: VersionService
  readonly versionParts: VersionDependencies
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Saved versions of editors, the changes between them, and their undo. */
export const history = defineCapability({
  name: 'history',
  operations: [
    createVersion,
    deleteVersion,
    getVersion,
    listVersions,
    restoreVersion,
    diffVersions,
    getChanges,
    undoContentChanges,
  ],
  create(services) {
    const versionParts = createVersionParts(services.engine, {
      ...services,
      organizations: services.store,
      everyMs: services.config.autoVersionMinutes * 60_000,
    })
    return { versionParts, versions: new VersionService(services, versionParts) }
  },
  cascade: ({ versionParts }) => [
    {
      async removeDocuments(scope, documentIds, goOn) {
        await mapInSlices(documentIds, (id) => versionParts.store.forgetDocument(scope, id, goOn))
      },
      removeOrganization: (scope, goOn) => versionParts.store.forget(scope, goOn),
    },
  ],
  userData: ({ store }) => ({ ofOrganization: [rangeSource(store, versionRanges)] }),
  edits: ({ versionParts }) => [versionParts.notes],
  start: ({ versions }) => versions.start(),
  stop: ({ versions }) => versions.stop(),
})
