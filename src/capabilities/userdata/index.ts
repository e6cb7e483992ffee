import { defineCapability } from '../../rest/capability.ts'
import { UserDataService } from './user-data-service.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly userData: UserDataService
  }
}

/** Export and erasure of the data of one user. */
export const userdata = defineCapability({
  name: 'userdata',
  create: (services) => ({
    userData: new UserDataService(services),
  }),
  start: ({ userData }) => userData.worker.start(),
  stop: ({ userData }) => userData.worker.stop(),
})
