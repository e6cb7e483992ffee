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

/** The REST operations of the core. Some exist only in `v1`, such as those that add and update folders. */
export const coreOperations: readonly Operation[] = [
  getDocumentsV1,
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
  closeConnections,
  getConnections,
  addContent,
  applyUpdate,
  deleteContent,
  getContent,
  editContent,
  updateContent,
  setSchema,
  getSchema,
  listSchemas,
  deleteSchema,
  broadcastLive,
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
  deleteUsers,
  getUsers,
  updateUsers,
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
  updateAttribution,
  addDomains,
  deleteDomains,
  getDomains,
  getWorkspace,
]
