import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { NotificationConfigService } from './notification-config-service.ts'
import { createNotificationCascade, notificationRanges } from './notification-removal.ts'
import { NotificationService } from './notification-service.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly notifications: NotificationService
    readonly notificationConfigs: NotificationConfigService
  }
}

/** Notifications of an organization, and what each user wants to get. */
export const notifications = defineCapability({
  name: 'notifications',
  create: ({ store, clock }) => ({
    notifications: new NotificationService(store, clock),
    notificationConfigs: new NotificationConfigService(store),
  }),
  cascade: ({ store }) => [createNotificationCascade(store)],
  userData: ({ store }) => ({
    ofOrganization: notificationRanges.map((ranges) => rangeSource(store, ranges)),
  }),
})
