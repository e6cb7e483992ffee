import { defineCapability } from '../../rest/capability.ts'
import { MigrationService } from './migration-service.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly migrations: MigrationService
  }
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
