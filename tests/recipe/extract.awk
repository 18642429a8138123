# SPDX-License-Identifier: Apache-2.0
# Prints the fenced block that follows the comment "<!-- recipe: FILE -->"; FILE is given with -v file=.
$0 == "<!-- recipe: " file " -->" { wanted = 1; next }
wanted && /^```/ { if (inside) exit; inside = 1; next }
inside { print; found = 1 }
END { exit !found }
