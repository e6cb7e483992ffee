import type { Operation } from '../../../operation.ts'
import { deleteFolder } from '../../../v2/organizations/folders/delete.ts'

export const deleteFolderV1: Operation = { ...deleteFolder, path: '/v1/organizations/folders/delete' }
