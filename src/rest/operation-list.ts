import { createBranch } from '../capabilities/branches/api/v2/crdt/branches/create.ts'
import { deleteBranch } from '../capabilities/branches/api/v2/crdt/branches/delete.ts'
import { diffBranch } from '../capabilities/branches/api/v2/crdt/branches/diff.ts'
import { getBranch } from '../capabilities/branches/api/v2/crdt/branches/get.ts'
import { listBranches } from '../capabilities/branches/api/v2/crdt/branches/list.ts'
import { mergeBranch } from '../capabilities/branches/api/v2/crdt/branches/merge.ts'
import { rejectBranch } from '../capabilities/branches/api/v2/crdt/branches/reject.ts'
import { deleteCallbacks } from '../capabilities/callbacks/api/v2/workspace/callbacks/delete.ts'
import { getCallbacks } from '../capabilities/callbacks/api/v2/workspace/callbacks/get.ts'
import { getCallbackSecret } from '../capabilities/callbacks/api/v2/workspace/callbacks/secret/get.ts'
import { rotateCallbackSecret } from '../capabilities/callbacks/api/v2/workspace/callbacks/secret/rotate.ts'
import { testCallback } from '../capabilities/callbacks/api/v2/workspace/callbacks/test.ts'
import { updateCallbacks } from '../capabilities/callbacks/api/v2/workspace/callbacks/update.ts'
import { deleteLocationData } from '../capabilities/comments/api/v1/organizations/documents/locations/data/delete.ts'
import { addAnnotations } from '../capabilities/comments/api/v2/commentannotations/add.ts'
import { addComments } from '../capabilities/comments/api/v2/commentannotations/comments/add.ts'
import { deleteComments } from '../capabilities/comments/api/v2/commentannotations/comments/delete.ts'
import { getComments } from '../capabilities/comments/api/v2/commentannotations/comments/get.ts'
import { addReactions } from '../capabilities/comments/api/v2/commentannotations/comments/reactions/add.ts'
import { deleteReactions } from '../capabilities/comments/api/v2/commentannotations/comments/reactions/delete.ts'
import { updateComments } from '../capabilities/comments/api/v2/commentannotations/comments/update.ts'
import { deleteAnnotations } from '../capabilities/comments/api/v2/commentannotations/delete.ts'
import { getAnnotations } from '../capabilities/comments/api/v2/commentannotations/get.ts'
import { updateAnnotations } from '../capabilities/comments/api/v2/commentannotations/update.ts'
import { addJudgment } from '../capabilities/decisions/api/v2/memory/judgments/add.ts'
import { deleteJudgments } from '../capabilities/decisions/api/v2/memory/judgments/delete.ts'
import { queryJudgments } from '../capabilities/decisions/api/v2/memory/judgments/query.ts'
import { suggestDecision } from '../capabilities/decisions/api/v2/memory/suggest.ts'
import { getFeed } from '../capabilities/feed/api/v2/feed/get.ts'
import { getFeedConfig } from '../capabilities/feed/api/v2/workspace/feed/get.ts'
import { updateFeedConfig } from '../capabilities/feed/api/v2/workspace/feed/update.ts'
import { getChanges } from '../capabilities/history/api/v2/crdt/changes.ts'
import { undoContentChanges } from '../capabilities/history/api/v2/crdt/undo.ts'
import { createVersion } from '../capabilities/history/api/v2/crdt/versions/create.ts'
import { deleteVersion } from '../capabilities/history/api/v2/crdt/versions/delete.ts'
import { diffVersions } from '../capabilities/history/api/v2/crdt/versions/diff.ts'
import { getVersion } from '../capabilities/history/api/v2/crdt/versions/get.ts'
import { listVersions } from '../capabilities/history/api/v2/crdt/versions/list.ts'
import { restoreVersion } from '../capabilities/history/api/v2/crdt/versions/restore.ts'
import { addNotification } from '../capabilities/notifications/api/v1/notifications/add.ts'
import { getNotificationConfig } from '../capabilities/notifications/api/v2/notifications/config/get.ts'
import { setNotificationConfig } from '../capabilities/notifications/api/v2/notifications/config/set.ts'
import { deleteNotifications } from '../capabilities/notifications/api/v2/notifications/delete.ts'
import { getNotifications } from '../capabilities/notifications/api/v2/notifications/get.ts'
import { updateNotifications } from '../capabilities/notifications/api/v2/notifications/update.ts'
import { getMetricsHistory } from '../capabilities/observability/api/v2/metrics/history/get.ts'
import { getStorageMetrics } from '../capabilities/observability/api/v2/metrics/storage/get.ts'
import { getDeliveries } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/deliveries/get.ts'
import { recoverDeliveries } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/deliveries/recover.ts'
import { resendDelivery } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/deliveries/resend.ts'
import { createEndpoint } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/create.ts'
import { deleteEndpoint } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/delete.ts'
import { getEndpoints } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/get.ts'
import { getEndpointSecret } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/secret/get.ts'
import { rotateEndpointSecret } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/secret/rotate.ts'
import { testEndpoint } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/test.ts'
import { updateEndpoint } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhook/endpoints/update.ts'
import { getAdvancedWebhookConfig } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhookconfig/get.ts'
import { updateAdvancedWebhookConfig } from '../capabilities/subscriptions/api/v2/workspace/advancedwebhookconfig/update.ts'
import { getWebhookConfig } from '../capabilities/subscriptions/api/v2/workspace/webhookconfig/get.ts'
import { updateWebhookConfig } from '../capabilities/subscriptions/api/v2/workspace/webhookconfig/update.ts'
import { exportUsage } from '../capabilities/usage/api/v2/workspace/usage/export.ts'
import { getUsage } from '../capabilities/usage/api/v2/workspace/usage/get.ts'
import { deleteUserData } from '../capabilities/userdata/api/v2/users/data/delete.ts'
import { getUserData } from '../capabilities/userdata/api/v2/users/data/get.ts'
import type { Operation } from './operation.ts'
import { getDocumentsV1 } from './v1/organizations/documents/get.ts'
import { updateDocumentsV1 } from './v1/organizations/documents/update.ts'
import { addFolders } from './v1/organizations/folders/add.ts'
import { deleteFolderV1 } from './v1/organizations/folders/delete.ts'
import { getFoldersV1 } from './v1/organizations/folders/get.ts'
import { updateFolders } from './v1/organizations/folders/update.ts'
import { addGroups } from './v1/organizations/usergroups/add.ts'
import { addGroupUsers } from './v1/organizations/usergroups/users/add.ts'
import { deleteGroupUsers } from './v1/organizations/usergroups/users/delete.ts'
import { addActivities } from './v2/activities/add.ts'
import { deleteActivities } from './v2/activities/delete.ts'
import { getActivities } from './v2/activities/get.ts'
import { updateActivities } from './v2/activities/update.ts'
import { generateToken } from './v2/auth/generate_token.ts'
import { inspectToken } from './v2/auth/inspect_token.ts'
import { addPermissions } from './v2/auth/permissions/add.ts'
import { getPermissions } from './v2/auth/permissions/get.ts'
import { removePermissions } from './v2/auth/permissions/remove.ts'
import { revokeTokens } from './v2/auth/revoke_tokens.ts'
import { closeConnections } from './v2/connections/close.ts'
import { getConnections } from './v2/connections/get.ts'
import { addContent } from './v2/crdt/add.ts'
import { applyUpdate } from './v2/crdt/apply.ts'
import { deleteContent } from './v2/crdt/delete.ts'
import { editContent } from './v2/crdt/edit.ts'
import { getContent } from './v2/crdt/get.ts'
import { deleteSchema } from './v2/crdt/schemas/delete.ts'
import { getSchema } from './v2/crdt/schemas/get.ts'
import { listSchemas } from './v2/crdt/schemas/list.ts'
import { setSchema } from './v2/crdt/schemas/set.ts'
import { updateContent } from './v2/crdt/update.ts'
import { broadcastLive } from './v2/livestate/broadcast.ts'
import { addOrganizations } from './v2/organizations/add.ts'
import { deleteOrganizations } from './v2/organizations/delete.ts'
import { updateDocumentAccess } from './v2/organizations/documents/access/update.ts'
import { addDocuments } from './v2/organizations/documents/add.ts'
import { deleteDocuments } from './v2/organizations/documents/delete.ts'
import { getDocuments } from './v2/organizations/documents/get.ts'
import { moveDocuments } from './v2/organizations/documents/move.ts'
import { updateDocuments } from './v2/organizations/documents/update.ts'
import { updateFolderAccess } from './v2/organizations/folders/access/update.ts'
import { deleteFolder } from './v2/organizations/folders/delete.ts'
import { getFolders } from './v2/organizations/folders/get.ts'
import { getOrganizations } from './v2/organizations/get.ts'
import { updateOrganizations } from './v2/organizations/update.ts'
import { deleteGroups } from './v2/organizations/usergroups/delete.ts'
import { getGroups } from './v2/organizations/usergroups/get.ts'
import { addPresence } from './v2/presence/add.ts'
import { deletePresence } from './v2/presence/delete.ts'
import { getPresence } from './v2/presence/get.ts'
import { updatePresence } from './v2/presence/update.ts'
import { getRequests } from './v2/requests/get.ts'
import { addUsers } from './v2/users/add.ts'
import { deleteUsers } from './v2/users/delete.ts'
import { getUsers } from './v2/users/get.ts'
import { updateUsers } from './v2/users/update.ts'
import { createApiKey } from './v2/workspace/apikey/create.ts'
import { getApiKeys } from './v2/workspace/apikeys/get.ts'
import { updateAttribution } from './v2/workspace/attribution/update.ts'
import { getAudit } from './v2/workspace/audit/get.ts'
import { resetAuthToken } from './v2/workspace/authtoken/reset.ts'
import { getAuthTokens } from './v2/workspace/authtokens/get.ts'
import { updateCallLimit } from './v2/workspace/calllimit/update.ts'
import { createWorkspace } from './v2/workspace/create.ts'
import { addDomains } from './v2/workspace/domains/add.ts'
import { deleteDomains } from './v2/workspace/domains/delete.ts'
import { getDomains } from './v2/workspace/domains/get.ts'
import { getWorkspace } from './v2/workspace/get.ts'
import { deleteMintingSecret } from './v2/workspace/mintingsecret/delete.ts'
import { resetMintingSecret } from './v2/workspace/mintingsecret/reset.ts'
import { getMintingSecrets } from './v2/workspace/mintingsecrets/get.ts'
import { updateStorageLimit } from './v2/workspace/storagelimit/update.ts'
import { resetWorkspaceAuthToken } from './v2/workspace/workspaceauthtoken/reset.ts'

/**
 * Every REST operation. The path of an operation's file is the path of its URL. Some operations exist only in
 * `v1`, such as those that add and update folders.
 */
export const operationList: readonly Operation[] = [
  addNotification,
  getDocumentsV1,
  deleteLocationData,
  updateDocumentsV1,
  addFolders,
  deleteFolderV1,
  getFoldersV1,
  updateFolders,
  addGroups,
  addGroupUsers,
  deleteGroupUsers,
  addActivities,
  deleteActivities,
  getActivities,
  updateActivities,
  generateToken,
  inspectToken,
  addPermissions,
  getPermissions,
  removePermissions,
  revokeTokens,
  addAnnotations,
  addComments,
  deleteComments,
  getComments,
  addReactions,
  deleteReactions,
  updateComments,
  deleteAnnotations,
  getAnnotations,
  updateAnnotations,
  closeConnections,
  getConnections,
  addContent,
  applyUpdate,
  deleteContent,
  getContent,
  editContent,
  updateContent,
  createBranch,
  listBranches,
  getBranch,
  diffBranch,
  mergeBranch,
  rejectBranch,
  deleteBranch,
  setSchema,
  getSchema,
  listSchemas,
  deleteSchema,
  createVersion,
  deleteVersion,
  getVersion,
  listVersions,
  restoreVersion,
  diffVersions,
  getChanges,
  undoContentChanges,
  broadcastLive,
  getFeed,
  addJudgment,
  deleteJudgments,
  queryJudgments,
  suggestDecision,
  getMetricsHistory,
  getStorageMetrics,
  getNotificationConfig,
  setNotificationConfig,
  deleteNotifications,
  getNotifications,
  updateNotifications,
  addOrganizations,
  deleteOrganizations,
  updateDocumentAccess,
  addDocuments,
  deleteDocuments,
  getDocuments,
  moveDocuments,
  updateDocuments,
  updateFolderAccess,
  deleteFolder,
  getFolders,
  getOrganizations,
  updateOrganizations,
  deleteGroups,
  getGroups,
  addPresence,
  deletePresence,
  getPresence,
  updatePresence,
  getRequests,
  addUsers,
  deleteUserData,
  getUserData,
  deleteUsers,
  getUsers,
  updateUsers,
  getDeliveries,
  recoverDeliveries,
  resendDelivery,
  createEndpoint,
  deleteEndpoint,
  getEndpoints,
  getEndpointSecret,
  rotateEndpointSecret,
  testEndpoint,
  updateCallbacks,
  getFeedConfig,
  updateFeedConfig,
  getCallbacks,
  deleteCallbacks,
  getCallbackSecret,
  rotateCallbackSecret,
  testCallback,
  updateEndpoint,
  getAdvancedWebhookConfig,
  updateAdvancedWebhookConfig,
  createApiKey,
  getApiKeys,
  getAudit,
  resetAuthToken,
  resetMintingSecret,
  getMintingSecrets,
  deleteMintingSecret,
  resetWorkspaceAuthToken,
  getAuthTokens,
  createWorkspace,
  updateStorageLimit,
  updateCallLimit,
  getUsage,
  exportUsage,
  updateAttribution,
  addDomains,
  deleteDomains,
  getDomains,
  getWorkspace,
  getWebhookConfig,
  updateWebhookConfig,
]
