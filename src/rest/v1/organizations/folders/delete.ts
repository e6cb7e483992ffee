import { folderDeletion } from '../../../folder-deletion.ts'

export const deleteFolderV1 = folderDeletion(1)
