/** Small decision trees whose answers are added. */
export type SmallTrees = { base: number; trees: readonly TreeNode[] };
/** A leaf has a value; a branch goes left where the feature is below its cut. */
export type TreeNode = number | { feature: number; cut: number; left: TreeNode; right: TreeNode };

/** The log of the odds. */
export function treesAnswer({ base, trees }: SmallTrees, values: readonly number[]): number {
  let sum = base;
  for (const tree of trees) sum += answerOf(tree, values);
  return sum;
}

export function answerOf(tree: TreeNode, values: readonly number[]): number {
  let node = tree;
  while (typeof node !== 'number') node = (values[node.feature] as number) < node.cut ? node.left : node.right;
  return node;
}
