/** The index of a partition's transcripts with pages whose vectors are to be made, by when that is due. */
export const VECTORS_INDEX = { owner: 'vectors', index: 'due' };
