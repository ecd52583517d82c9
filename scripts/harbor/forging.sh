# shellcheck shell=bash disable=SC2154
# The part of harbor-check behind --forge; it is read by it and uses its functions. One task, four trials:
#   plain    the oracle, undisturbed                              reward 1
#   oracle   attacks, and the oracle's calls after them           reward 1 and the verdict of `plain`
#   idle     attacks alone                                        reward 0
#   root     the oracle, where the task lets the agent be root    the verdict's details say so

forging() { # TASK
    local task=$1 name kind verdict=0
    name=$(basename "$task")
    for kind in plain oracle idle root; do
        mkdir -p "$run/forge/$kind"
        cp -r "$task" "$run/forge/$kind/"
    done
    for kind in oracle idle; do
        mv "$run/forge/$kind/$name/solution/solve.sh" "$run/forge/$kind/$name/solution/honest.sh"
        cp "$root/scripts/harbor/forge.sh" "$run/forge/$kind/$name/solution/solve.sh"
    done
    rm "$run/forge/idle/$name/solution/honest.sh"
    sed -i 's/^user = "agent"$/user = "root"/' "$run/forge/root/$name/task.toml"
    grep -q '^user = "root"$' "$run/forge/root/$name/task.toml" || failed "the task names no agent's user"

    echo "attacks on $name"
    trials forge-plain "$run/forge/plain" oracle 1 || verdict=1
    trials forge-oracle "$run/forge/oracle" oracle 1 || verdict=1
    trials forge-idle "$run/forge/idle" oracle 0 || verdict=1
    trials forge-root "$run/forge/root" oracle 1 || verdict=1
    "$work/harbor-venv/bin/python" "$root/scripts/harbor/forged.py" "$run/jobs" || verdict=1
    return "$verdict"
}
