/** Id that replaces the ids of all users whose data was deleted. */
export const deletedUserId = 'deleted-user'
