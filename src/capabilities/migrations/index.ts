import { defineCapability } from '../../rest/capability.ts'
import { MigrationService } from './migration-service.ts'

interface Added {
  readonly migrations: MigrationService
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Rewrites stored documents for a new version of their schema. */
export const migrations = defineCapability({
  name: 'migrations',
  create: (services) => ({
    migrations: new MigrationService(services),
  }),
  start: ({ migrations }) => migrations.worker.start(),
  stop: ({ migrations }) => migrations.worker.stop(),
})
