// SPDX-License-Identifier: Apache-2.0
// Fits a model on memory of the program, saves it, loads it and predicts, in C++. c++ -std=c++17 features.cpp -lkfe
#include <iostream>

#include <kfe.hpp>

int main()
{
    try {
        kfe::Context context;
        auto train = kfe::Data::generate(context, "slabs");
        auto model = kfe::Spec(context.seed(1), "koc", "", "rbf:gamma=0.2").learner("svm").fit(train);
        auto again = kfe::Model::from_bytes(context, model.bytes());
        auto features = again.transform(train);
        auto answers = again.predict(train);

        std::cout << features.rows << " examples, " << features.cols << " features, " << answers.labels.size() << " labels\n";
        kfe::Spec(context, "no-such-method");
    } catch (const kfe::Error &error) {
        std::cout << "refused: " << error.what() << "\n";
    }
    return 0;
}
