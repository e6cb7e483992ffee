import { rangeSource } from '../../core/directory/user-data/user-data-source.ts'
import { defineCapability } from '../../rest/capability.ts'
import { addNotification } from './api/v1/notifications/add.ts'
import { getNotificationConfig } from './api/v2/notifications/config/get.ts'
import { setNotificationConfig } from './api/v2/notifications/config/set.ts'
import { deleteNotifications } from './api/v2/notifications/delete.ts'
import { getNotifications } from './api/v2/notifications/get.ts'
import { updateNotifications } from './api/v2/notifications/update.ts'
import { NotificationConfigService } from './notification-config-service.ts'
import { createNotificationCascade } from './notification-removal.ts'
import { NotificationService } from './notification-service.ts'
import { notificationRanges } from './user-data.ts'

interface Added {
  readonly notifications: NotificationService
  readonly notificationConfigs: NotificationConfigService
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Notifications of an organization, and what each user wants to get. */
export const notifications = defineCapability({
  name: 'notifications',
  operations: [
    addNotification,
    getNotificationConfig,
    setNotificationConfig,
    deleteNotifications,
    getNotifications,
    updateNotifications,
  ],
  create: ({ store, clock }) => ({
    notifications: new NotificationService(store, clock),
    notificationConfigs: new NotificationConfigService(store),
  }),
  cascade: ({ store }) => [createNotificationCascade(store)],
  userData: ({ store }) => ({
    ofOrganization: notificationRanges.map((ranges) => rangeSource(store, ranges)),
  }),
})
