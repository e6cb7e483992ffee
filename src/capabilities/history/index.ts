import { mapInSlices } from '../../core/directory/store/batch.ts'
import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { getChanges } from './api/v2/crdt/changes.ts'
import { undoContentChanges } from './api/v2/crdt/undo.ts'
import { createVersion } from './api/v2/crdt/versions/create.ts'
import { deleteVersion } from './api/v2/crdt/versions/delete.ts'
import { diffVersions } from './api/v2/crdt/versions/diff.ts'
import { getVersion } from './api/v2/crdt/versions/get.ts'
import { listVersions } from './api/v2/crdt/versions/list.ts'
import { restoreVersion } from './api/v2/crdt/versions/restore.ts'
import { versionRanges } from './user-data.ts'
import { VersionService } from './version-service.ts'

interface Added {
  readonly versions: VersionService
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
  create: (services) => ({ versions: new VersionService(services) }),
  cascade: ({ versions: { store } }) => [
    {
      async removeDocuments(scope, documentIds, goOn) {
        await mapInSlices(documentIds, (id) => store.forgetDocument(scope, id, goOn))
      },
      removeOrganization: (scope, goOn) => store.forget(scope, goOn),
    },
  ],
  userData: ({ store }) => ({ ofOrganization: [rangeSource(store, versionRanges)] }),
  edits: ({ versions }) => [versions.tracker],
  start: ({ versions }) => versions.start(),
  stop: ({ versions }) => versions.stop(),
})
