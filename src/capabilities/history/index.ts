import { mapInSlices } from '../../core/directory/store/batch.ts'
import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { documentPrefix, organizationPrefix } from '../../core/model/address.ts'
import { GenerationStore } from '../../core/rooms/log/generation-store.ts'
import { defineCapability } from '../../rest/capability.ts'
import { versionRanges } from './user-data.ts'
import { VersionService } from './version-service.ts'
import { yhubRoutes } from './yhub/yhub-route.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly versions: VersionService
  }
}

/** Saved versions of editors, the changes between them, and their undo. */
export const history = defineCapability({
  name: 'history',
  create: (services) => ({ versions: new VersionService(services) }),
  cascade: ({ versions: { store }, engine }) => [
    {
      async removeDocuments(scope, documentIds, goOn) {
        const generations = new GenerationStore(engine.blobs)
        await mapInSlices(documentIds, async (id) => {
          await store.forgetDocument(scope, id, goOn)
          await generations.remove(documentPrefix(scope, id), goOn)
        })
      },
      async removeOrganization(scope, goOn) {
        await store.forget(scope, goOn)
        await new GenerationStore(engine.blobs).remove(organizationPrefix(scope), goOn)
      },
      removeBranch: (branch) => store.removeEditor(branch),
      beforeRestore: (from, into, goOn) => store.adoptEpochs(from, into, goOn),
    },
  ],
  userData: ({ store }) => ({ ofOrganization: [rangeSource(store, versionRanges)] }),
  edits: ({ versions }) => versions.listeners,
  routes: yhubRoutes,
  start: ({ versions }) => versions.start(),
  stop: ({ versions }) => versions.stop(),
})
